//! Powers with public exponents: the inverse, and the power for square roots.

use super::Fe;

impl Fe {
    /// Squares each element `n` times, all elements of `x` in step: the chains are independent,
    /// which hides the latency of each.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn square_times<const N: usize>(mut x: [Fe; N], n: usize) -> [Fe; N] {
        for _ in 0..n {
            for x in &mut x {
                *x = x.square().carry();
            }
        }
        x
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(in super::super) fn mul_each<const N: usize>(mut a: [Fe; N], b: [Fe; N]) -> [Fe; N] {
        for (a, b) in a.iter_mut().zip(b) {
            *a = a.mul(b).carry();
        }
        a
    }

    /// (x^(2^250 - 1), x^11), the common part of the two powers below.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    fn power_2_250_minus_1<const N: usize>(x: [Fe; N]) -> ([Fe; N], [Fe; N]) {
        let times = |a, b| Fe::mul_each(a, b);
        let x2 = Fe::square_times(x, 1);
        let x9 = times(x, Fe::square_times(x2, 2));
        let x11 = times(x2, x9);
        // e(n) is x^(2^n - 1).
        let e5 = times(x9, Fe::square_times(x11, 1));
        let e10 = times(Fe::square_times(e5, 5), e5);
        let e20 = times(Fe::square_times(e10, 10), e10);
        let e40 = times(Fe::square_times(e20, 20), e20);
        let e50 = times(Fe::square_times(e40, 10), e10);
        let e100 = times(Fe::square_times(e50, 50), e50);
        let e200 = times(Fe::square_times(e100, 100), e100);
        (times(Fe::square_times(e200, 50), e50), x11)
    }

    /// x^((p - 5) / 8) = x^(2^252 - 3).
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(in super::super) fn power_p58<const N: usize>(x: [Fe; N]) -> [Fe; N] {
        let (e250, _) = Fe::power_2_250_minus_1(x);
        Fe::mul_each(Fe::square_times(e250, 2), x)
    }

    /// 1/x = x^(p - 2), and 0 for 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512dq")]
    pub(in super::super) fn invert(self) -> Fe {
        let ([e250], [x11]) = Fe::power_2_250_minus_1([self]);
        let [shifted] = Fe::square_times([e250], 5);
        shifted.mul(x11).carry()
    }
}
